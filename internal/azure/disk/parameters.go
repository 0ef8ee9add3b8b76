// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The parameters that describe a disk, in lower case: the driver takes names in any case.
const (
	paramSKU             = "skuname"
	paramAccountType     = "storageaccounttype"
	paramCaching         = "cachingmode"
	paramIOPS            = "diskiopsreadwrite"
	paramMBps            = "diskmbpsreadwrite"
	paramBursting        = "enablebursting"
	paramPerformancePlus = "enableperformanceplus"
	paramMaxShares       = "maxshares"
	paramLocation        = "location"
)

// spelled is how the documentation writes a parameter.
var spelled = map[string]string{
	paramSKU: "skuName", paramCaching: "cachingMode", paramIOPS: "DiskIOPSReadWrite", paramMBps: "DiskMBpsReadWrite",
	paramBursting: "enableBursting", paramPerformancePlus: "enablePerformancePlus", paramMaxShares: "maxShares", paramLocation: "location",
}

// otherParameters are the rest of those that the driver takes; they say nothing of performance. It
// refuses a class with any other, unless that begins with one of freePrefixes.
var otherParameters = []string{
	"attachdiskinitialdelay", "diskaccessid", "diskencryptionsetid", "diskencryptiontype", "diskname", "enableasyncattach",
	"fstype", "kind", "logicalsectorsize", "networkaccesspolicy", "perfprofile", "publicnetworkaccess", "resourcegroup",
	"subscriptionid", "tags", "tagvaluedelimiter", "useragent", "writeacceleratorenabled", "zoned",
}

// csi.storage.k8s.io/ parameters are the provisioner's, which keeps them from the driver.
var freePrefixes = []string{"device-setting/", "csi.storage.k8s.io/"}

// mutable parameters are those that a VolumeAttributesClass can have.
var mutable = []string{paramSKU, paramIOPS, paramMBps}

// parameters by lower-case name, from the places that have them.
type parameters struct {
	values   map[string]string
	warnings []Warning
}

// readParameters merges the places: the volume's attributes are what the disk was created with and go
// before the class, and the VolumeAttributesClass goes before both. A class can be another one than that
// which an existing disk was created by, so that it counts only where the volume has nothing.
func readParameters(f Facts) *parameters {
	p := &parameters{values: map[string]string{}}
	class := p.layer("the StorageClass", f.ClassParameters)
	volume := p.layer("the PersistentVolume", f.VolumeAttributes)
	attributes := p.layer("the VolumeAttributesClass", f.AttributesClassParameters)
	p.refuseUnknown(class)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if !slices.Contains(mutable, name) {
			p.warn(InvalidParameter, "the VolumeAttributesClass has %s, which cannot be changed: it is ignored", name)
			delete(attributes, name)
		}
	}
	if !f.ExistingClaim || len(volume) == 0 {
		maps.Copy(p.values, class)
	}
	for _, name := range slices.Sorted(maps.Keys(volume)) {
		if asked, ok := class[name]; ok && asked != volume[name] && spelled[name] != "" {
			p.warn(ConflictingParameters, "%s is %q in the PersistentVolume and %q in the StorageClass: the volume was created with the first, which counts", spelled[name], volume[name], asked)
		}
		p.values[name] = volume[name]
	}
	maps.Copy(p.values, attributes)
	return p
}

// layer is one place with lower-case names. Of two spellings of one parameter that disagree, the
// driver takes either, by chance; here it is the first in the alphabet.
func (p *parameters) layer(place string, values map[string]string) map[string]string {
	layer, from := map[string]string{}, map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := strings.ToLower(key)
		if name == paramAccountType {
			name = paramSKU
		}
		if first, ok := from[name]; ok {
			if layer[name] != values[key] {
				p.warn(ConflictingParameters, "%s has %s %q and %s %q, of which the driver takes either: the first is assumed", place, first, layer[name], key, values[key])
			}
			continue
		}
		layer[name], from[name] = values[key], key
	}
	return layer
}

func (p *parameters) refuseUnknown(class map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(class)) {
		free := slices.ContainsFunc(freePrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if spelled[name] == "" && !slices.Contains(otherParameters, name) && !free {
			p.warn(UnknownParameter, "the driver does not know the parameter %q, and creates no disk of such a class", name)
		}
	}
}

func (p *parameters) warn(reason Reason, format string, args ...any) {
	p.warnings = append(p.warnings, Warning{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// number is a whole number above 0; false, with a warning, for another text, and false without the
// parameter.
func (p *parameters) number(name string) (int64, bool) {
	text := p.values[name]
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n <= 0 {
		p.warn(InvalidParameter, "%s is %q, where the driver takes a whole number from 1 to 2147483647", spelled[name], text)
		return 0, false
	}
	return n, true
}

// bursting follows the driver, which takes any case of true, and false for everything else.
func (p *parameters) bursting() bool { return strings.EqualFold(p.values[paramBursting], "true") }

// performancePlus follows the driver, which takes what strconv.ParseBool takes and refuses the rest.
func (p *parameters) performancePlus() bool {
	text := p.values[paramPerformancePlus]
	if text == "" {
		return false
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		p.warn(InvalidParameter, "%s is %q, where the driver takes true or false", spelled[paramPerformancePlus], text)
	}
	return on
}
