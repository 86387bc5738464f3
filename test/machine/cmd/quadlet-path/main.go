// Command quadlet-path prints, on one line, the command that runs a test machine's Quadlet on this host.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/sitelet/sitelet/test/machine"
)

func main() {
	command, err := machine.Quadlet()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quadlet-path:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(command, " "))
}
