// Package build knows which build of sitelet this is.
package build

// Version is set by the linker: make build.
var Version = "dev"
