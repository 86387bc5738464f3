package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sitelet/sitelet/hooks"
)

// siteStatus is the form of status -o json NAMESPACE, which programs rely on.
type siteStatus struct {
	hooks.SiteState
	Workload []workloadStatus `json:"workload"`
}

// siteState returns what is known of a namespace, which may have no router.
func siteState(ctx context.Context, h hooks.Hooks, namespace string, all []hooks.WorkloadStatus) (hooks.SiteState, error) {
	for _, w := range all {
		if w.Router != nil {
			return *w.Router, nil
		}
	}
	return h.AskSite(ctx, namespace)
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
