package hooks

import (
	"context"
	"fmt"
	"strings"

	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/workload"
)

// noLimit is what Podman takes for none: it ignores 0, and refuses -1 (podman-update(1), tried with 5.4).
const noLimit = "9223372036854771712"

// reloadLive takes up what can change while the container runs. The unit's part of it has come with the daemon-reload.
func (h Hooks) reloadLive(ctx context.Context, a plan.Action) error {
	m, err := h.read(a.Name)
	if err != nil {
		return err
	}
	memory := false
	for _, c := range a.Changes {
		memory = memory || strings.HasPrefix(c.Field, "host_config.resources.")
	}
	if memory {
		all, err := h.containers(ctx, a.Name)
		if err != nil {
			return err
		}
		if c := h.named(a.Name, all); c != nil {
			if err := h.Engine.Update(ctx, c.ID, memoryFlags(m.data.Inputs)); err != nil {
				return fmt.Errorf("changing the memory limits: %w", err)
			}
		}
	}
	return h.record(ctx, m)
}

// memoryFlags are those of podman update that set exactly the limits of the inputs.
func memoryFlags(inputs []workload.Input) []string {
	memory, reservation, swap := noLimit, "0", "-1"
	for _, in := range inputs {
		switch in.Field {
		case "host_config.resources.memory":
			memory = in.Value
		case "host_config.resources.memory_reservation":
			reservation = in.Value
		case "host_config.resources.memory_swap":
			swap = in.Value
		}
	}
	return []string{"--memory=" + memory, "--memory-reservation=" + reservation, "--memory-swap=" + swap}
}
