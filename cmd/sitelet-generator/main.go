// Command sitelet-generator is run by systemd at boot and at each daemon-reload: sitelet-generator NORMAL [EARLY LATE].
package main

import (
	"fmt"
	"os"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
)

func main() {
	if len(os.Args) != 2 && len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sitelet-generator NORMAL [EARLY LATE]\nIt is run by systemd; see sitelet-generator(8).")
		os.Exit(2)
	}
	log := openLog()
	if err := run(os.Args[1], log); err != nil {
		log(diag.Error, err.Error())
		os.Exit(1)
	}
}

func run(normal string, log func(diag.Severity, string)) error {
	scope := paths.System
	// Set since systemd 251; before, only the system's generators have no user's home.
	if os.Getenv("SYSTEMD_SCOPE") == "user" {
		scope = paths.User
	}
	p, err := paths.New(scope, os.Getenv("SITELET_ROOT"), os.Getenv)
	if err != nil {
		return err
	}
	return generator.Run(p, normal, log)
}
