package softfloat_test

import (
	"flag"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irmade"
)

var update = flag.Bool("update", false, "write float.ir")

// TestText: float.ir is what float.stp compiles to.
func TestText(t *testing.T) {
	irmade.Source{Name: "float", Prefix: "_float_", Calls: `println(_float_add(n, n), _float_mul(n, n),
		_float_div(n, n), _float_cmp(n, n), _float_trunc(n), _float_round(n), _float_wide(n), _float_norm(n, n, n),
		_float_pack(n, n, n))`}.Check(t, *update)
}
