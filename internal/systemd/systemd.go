// Package systemd asks systemd for jobs over D-Bus.
package systemd

import (
	"context"
	"fmt"

	"github.com/coreos/go-systemd/v22/dbus"

	"github.com/sitelet/sitelet/internal/paths"
)

// Manager is the systemd of one scope.
type Manager struct{ conn *dbus.Conn }

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
	return &Manager{conn}, nil
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
