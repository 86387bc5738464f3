// Package systemd asks systemd for jobs over D-Bus, and for the state of units.
package systemd

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/coreos/go-systemd/v22/dbus"

	"github.com/sitelet/sitelet/internal/paths"
)

// Manager is the systemd of one scope.
type Manager struct {
	conn  *dbus.Conn
	scope paths.Scope
}

// Unit is the state of a unit, with systemd's own words (systemd.unit(5), org.freedesktop.systemd1(5)).
type Unit struct {
	ActiveState  string    // "active", "activating", "deactivating", "inactive", "failed"
	Since        time.Time // when it came to be in that state; zero if it has always been
	Result       string    // of a service, "success" or why it failed
	InvocationID string    // of its present or last run in this boot, in hexadecimal; empty if it has had none
	Restarts     int       // restarts by systemd since it was started by somebody
	ExitStatus   int       // of its main process
	Stopped      bool      // somebody has asked for the end of its last run
	Ended        bool      // it is inactive as its last run has ended by itself, for good
	Queued       bool      // a job for it is waiting or running
	RequiredBy   []string  // or bound to it
}

// Connect reaches the manager of a scope. Close ends the connection.
func Connect(ctx context.Context, scope paths.Scope) (*Manager, error) {
	connect := dbus.NewSystemConnectionContext
	if scope == paths.User {
		connect = dbus.NewUserConnectionContext
	}
	conn, err := connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("reaching systemd over D-Bus: %w", err)
	}
	return &Manager{conn, scope}, nil
}

// Close ends the connection.
func (m *Manager) Close() { m.conn.Close() }

// Reload is systemctl daemon-reload.
func (m *Manager) Reload(ctx context.Context) error {
	if err := m.conn.ReloadContext(ctx); err != nil {
		return fmt.Errorf("reloading systemd: %w", err)
	}
	return nil
}

// Enqueue asks for a unit's start and does not wait for it (systemctl start --no-block).
func (m *Manager) Enqueue(ctx context.Context, unit string) error {
	if _, err := m.conn.StartUnitContext(ctx, unit, "replace", nil); err != nil {
		return fmt.Errorf("starting %s: %w", unit, err)
	}
	return nil
}

// Restart restarts a unit and waits until the job for it is over. How that ended, the state of the unit says.
func (m *Manager) Restart(ctx context.Context, unit string) error {
	done := make(chan string, 1)
	if _, err := m.conn.RestartUnitContext(ctx, unit, "replace", done); err != nil {
		return fmt.Errorf("restarting %s: %w", unit, err)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("restarting %s: %w", unit, ctx.Err())
	}
}

// Stop stops a unit and waits until it has.
func (m *Manager) Stop(ctx context.Context, unit string) error {
	return wait(ctx, "stopping", unit, m.conn.StopUnitContext)
}

// Start is systemctl start: it waits until the unit is up.
func (m *Manager) Start(ctx context.Context, unit string) error {
	return wait(ctx, "starting", unit, m.conn.StartUnitContext)
}

// ReloadUnit is systemctl reload: it waits until the unit has.
func (m *Manager) ReloadUnit(ctx context.Context, unit string) error {
	return wait(ctx, "reloading", unit, m.conn.ReloadUnitContext)
}

// wait asks for a job and returns how it ended.
func wait(ctx context.Context, doing, unit string, ask func(context.Context, string, string, chan<- string) (int, error)) error {
	done := make(chan string, 1)
	if _, err := ask(ctx, unit, "replace", done); err != nil {
		return fmt.Errorf("%s %s: %w", doing, unit, err)
	}
	select {
	case result := <-done:
		if result != "done" {
			return fmt.Errorf("%s %s: the job ended as %s", doing, unit, result)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s %s: %w", doing, unit, ctx.Err())
	}
}

// ResetFailed forgets a unit's failure and what counts against its start limit.
func (m *Manager) ResetFailed(ctx context.Context, unit string) error {
	if err := m.conn.ResetFailedUnitContext(ctx, unit); err != nil {
		return fmt.Errorf("resetting %s: %w", unit, err)
	}
	return nil
}

// Unit returns the state of a service. One that is not loaded is inactive.
func (m *Manager) Unit(ctx context.Context, unit string) (Unit, error) {
	all, err := m.conn.GetAllPropertiesContext(ctx, unit)
	if err != nil {
		return Unit{}, fmt.Errorf("reading the state of %s: %w", unit, err)
	}
	u := Unit{}
	u.ActiveState, _ = all["ActiveState"].(string)
	since := "StateChangeTimestamp"
	if u.ActiveState == "active" {
		since = "ActiveEnterTimestamp" // the former is that of the last reload, too
	}
	if microseconds, ok := all[since].(uint64); ok && microseconds > 0 {
		u.Since = time.UnixMicro(int64(microseconds))
	}
	u.Result, _ = all["Result"].(string)
	if id, ok := all["InvocationID"].([]byte); ok {
		u.InvocationID = hex.EncodeToString(id)
	}
	if n, ok := all["NRestarts"].(uint32); ok {
		u.Restarts = int(n)
	}
	if status, ok := all["ExecMainStatus"].(int32); ok {
		u.ExitStatus = int(status)
	}
	// A stop has the unit leave its active state first, and then its main process end.
	left, _ := all["ActiveExitTimestampMonotonic"].(uint64)
	ended, _ := all["ExecMainExitTimestampMonotonic"].(uint64)
	u.Stopped = left < ended
	restart, _ := all["Restart"].(string)
	u.Ended = u.ActiveState == "inactive" && u.InvocationID != "" && !u.Stopped && u.Result == "success" && restart != "always"
	if job, ok := all["Job"].([]any); ok && len(job) > 0 {
		id, _ := job[0].(uint32)
		u.Queued = id != 0
	}
	u.RequiredBy, _ = all["RequiredBy"].([]string)
	bound, _ := all["BoundBy"].([]string)
	u.RequiredBy = append(u.RequiredBy, bound...)
	return u, nil
}

// States returns the ActiveState of each of these units, with one call for all.
func (m *Manager) States(ctx context.Context, units []string) (map[string]string, error) {
	all, err := m.conn.ListUnitsByNamesContext(ctx, units)
	if err != nil {
		return nil, fmt.Errorf("listing units: %w", err)
	}
	states := make(map[string]string, len(all))
	for _, u := range all {
		states[u.Name] = u.ActiveState
	}
	return states, nil
}

// Inactive lists the loaded services that are inactive.
func (m *Manager) Inactive(ctx context.Context) ([]string, error) {
	units, err := m.conn.ListUnitsByPatternsContext(ctx, []string{"inactive"}, []string{"*.service"})
	if err != nil {
		return nil, fmt.Errorf("listing units: %w", err)
	}
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.Name
	}
	return names, nil
}

// Active tells whether a unit of any type is active.
func (m *Manager) Active(ctx context.Context, unit string) bool {
	property, err := m.conn.GetUnitPropertyContext(ctx, unit, "ActiveState")
	return err == nil && property.Value.Value() == "active"
}

// Stopping tells whether somebody has asked for a unit's stop or restart, and that is not done yet.
func (m *Manager) Stopping(ctx context.Context, unit string) (bool, error) {
	jobs, err := m.conn.ListJobsContext(ctx)
	if err != nil {
		return false, fmt.Errorf("listing the jobs of systemd: %w", err)
	}
	return slices.ContainsFunc(jobs, func(j dbus.JobStatus) bool {
		return j.Unit == unit && (j.JobType == "stop" || j.JobType == "restart")
	}), nil
}

// Loaded is a unit that systemd knows of.
type Loaded struct {
	Name  string
	State string // its ActiveState
}

// Loaded lists the loaded units, of any type, whose names match one of the patterns.
func (m *Manager) Loaded(ctx context.Context, patterns ...string) ([]Loaded, error) {
	units, err := m.conn.ListUnitsByPatternsContext(ctx, nil, patterns)
	if err != nil {
		return nil, fmt.Errorf("listing units: %w", err)
	}
	loaded := make([]Loaded, len(units))
	for i, u := range units {
		loaded[i] = Loaded{u.Name, u.ActiveState}
	}
	return loaded, nil
}
