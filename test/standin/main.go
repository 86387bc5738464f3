// Command standin stands in for skrouterd: see package skrouter for what it does and does not. With -c FILE it reads that
// configuration file as it is; without, it does as the start script of the router's image: it reads the file that QDROUTERD_CONF
// names, with the variables of the environment put in. STANDIN_FAULTS names a file of faults.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sitelet/sitelet/test/standin/skrouter"
)

func main() {
	file := flag.String("c", "", "configuration `file`")
	flag.Parse()
	if err := run(*file); err != nil {
		fmt.Fprintf(os.Stderr, "skrouterd: %v\n", err)
		os.Exit(1)
	}
}

func run(file string) error {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	configuration, err := read(file)
	if err != nil {
		return err
	}
	router, err := skrouter.Start(configuration, skrouter.Options{
		SiteID: os.Getenv("SKUPPER_SITE_ID"),
		Faults: os.Getenv("STANDIN_FAULTS"),
		Log:    os.Stderr,
	})
	if err != nil {
		return err
	}
	<-end
	router.Close()
	return nil
}

// read reads the configuration; only that of QDROUTERD_CONF has variables.
func read(file string) ([]byte, error) {
	if file != "" {
		return os.ReadFile(file)
	}
	file = os.Getenv("QDROUTERD_CONF")
	if file == "" {
		return nil, fmt.Errorf("there is no configuration: give -c FILE, or set QDROUTERD_CONF")
	}
	configuration, err := os.ReadFile(file)
	return skrouter.Expand(configuration, os.LookupEnv), err
}
