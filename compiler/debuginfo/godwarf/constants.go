package godwarf

import (
	"github.com/gostap/gostap/compiler/debuginfo/goconsts"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/types"
)

// Constant gives the value of a named constant; see goconsts.Constants.
func Constant(im *Image, name string) (val int64, err error) {
	defer foreign.Guard(&err)()
	c, err := constantsOf(im)
	if err != nil {
		return 0, err
	}
	return c.Value(name)
}

// ConstantsOf are those of a type; see goconsts.Constants.
func ConstantsOf(im *Image, t *types.Ctype) (list []types.Enumerator, err error) {
	defer foreign.Guard(&err)()
	c, err := constantsOf(im)
	if err != nil {
		return nil, err
	}
	return c.Of(t)
}

func constantsOf(im *Image) (*goconsts.Constants, error) {
	if im.constants != nil {
		return im.constants, nil
	}
	d, err := im.variables()
	if err != nil {
		return nil, err
	}
	im.constants, err = goconsts.New(d, im.types.Type)
	return im.constants, err
}
