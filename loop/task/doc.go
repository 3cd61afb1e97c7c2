// Package task reads YAML task files.
package task
