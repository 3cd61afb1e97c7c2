//go:build !unix && !windows

package cmd

import "os"

// width is how many columns a terminal has, 0 if it does not say.
func width(*os.File) int { return 0 }
