package engine

import (
	"path/filepath"
	"strings"
)

// Endpoint returns where the engine of a platform, "podman" or "docker", listens, as a URL: what is configured, else
// PODMAN_CONTAINER_ENDPOINT or DOCKER_CONTAINER_ENDPOINT, else CONTAINER_ENDPOINT, else its socket in runtimeDir, which is /run or
// a user's. A path is taken for a socket's, as Skupper does (its variable CONTAINER_ENDPOINT).
func Endpoint(platform, configured, runtimeDir string, getenv func(string) string) string {
	for _, endpoint := range []string{configured, getenv(strings.ToUpper(platform) + "_CONTAINER_ENDPOINT"), getenv("CONTAINER_ENDPOINT")} {
		if strings.HasPrefix(endpoint, "/") {
			return "unix://" + endpoint
		}
		if endpoint != "" {
			return endpoint
		}
	}
	if platform == "docker" {
		return "unix://" + filepath.Join(runtimeDir, "docker.sock")
	}
	return "unix://" + filepath.Join(runtimeDir, platform, platform+".sock")
}
