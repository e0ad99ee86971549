package dwtype

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

func TestMain(m *testing.M) { os.Exit(elftest.Main(m)) }
