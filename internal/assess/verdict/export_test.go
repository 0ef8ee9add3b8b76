// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

// RowNumbers are those of all rules, in their order.
func RowNumbers() []string {
	var all []string
	for _, r := range rows {
		all = append(all, r.number)
	}
	return all
}
