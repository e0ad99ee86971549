package main

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/gostap/gostap/cmd/internal/fleet/controller"
)

// watched has a controller tell metrics, and whether it answers webhooks, at the addresses of its manager.
func watched(m ctrl.Manager, c *controller.Controller, hooks webhook.Server) error {
	leads := func() bool {
		select {
		case <-m.Elected():
			return true
		default:
			return false
		}
	}
	if err := metrics.Registry.Register(c.Metrics(leads)); err != nil {
		return err
	}
	if err := m.AddHealthzCheck("lives", healthz.Ping); err != nil {
		return err
	}
	return m.AddReadyzCheck("webhooks", hooks.StartedChecker())
}
