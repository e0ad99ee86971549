// Package kmod holds the C headers that generated kernel modules are built with.
//
// They are dual-licensed, GPL-2.0 or MIT. Built by plain gcc without __KERNEL__ they stand
// on gs_user.h instead of the kernel, for tests under the sanitizers.
package kmod

import "embed"

// Headers are the files, by name without a folder.
//
//go:embed *.h
var Headers embed.FS
