package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/hooks"
)

// siteStatus prints what the router of a namespace says of itself.
func (c *cli) siteStatus(cmd *cobra.Command, h hooks.Hooks, namespace string, workload []workloadStatus, output format) error {
	s, err := h.AskSite(cmd.Context(), namespace)
	if err != nil {
		return err
	}
	all := struct {
		hooks.SiteState
		Workload []workloadStatus `json:"workload"`
	}{s, workload}
	switch output {
	case formatJSON:
		return printJSON(c.out, all)
	case formatYAML:
		return printYAML(c.out, all)
	}
	for _, w := range workload {
		if err := c.printOne(w); err != nil {
			return err
		}
	}
	answer := "answers"
	if !s.Answers {
		answer = s.Why
	}
	fmt.Fprintf(c.out, "router:      %s\n", answer)
	return c.printSite(s)
}

func (c *cli) printSite(s hooks.SiteState) error {
	links := [][]string{{"LINK", "TO", "COST", "STATE", "MESSAGE"}}
	for _, l := range s.Links {
		links = append(links, []string{l.Name, l.Peer, strconv.Itoa(l.Cost), upOrDown(l.Up), l.Message})
	}
	listeners := [][]string{{"LISTENER", "KEY", "ADDRESS", "MATCHED", "OPEN", "IN", "OUT", "MESSAGE"}}
	for _, l := range s.Listeners {
		listeners = append(listeners, []string{l.Name, l.RoutingKey, l.Address, yesOrNo(l.Matched), strconv.Itoa(l.Open), strconv.Itoa(l.BytesIn), strconv.Itoa(l.BytesOut), l.Message})
	}
	connectors := [][]string{{"CONNECTOR", "KEY", "ADDRESS", "OPEN", "IN", "OUT"}}
	for _, n := range s.Connectors {
		connectors = append(connectors, []string{n.Name, n.RoutingKey, n.Address, strconv.Itoa(n.Open), strconv.Itoa(n.BytesIn), strconv.Itoa(n.BytesOut)})
	}
	for _, table := range [][][]string{links, listeners, connectors} {
		if len(table) == 1 {
			continue
		}
		fmt.Fprintln(c.out)
		if err := printTable(c.out, table); err != nil {
			return err
		}
	}
	for i, problem := range s.Problems {
		if i == 0 {
			fmt.Fprintln(c.out)
		}
		fmt.Fprintln(c.out, problem)
	}
	return nil
}

func upOrDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
