// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// RowError says what is wrong with one row of a CSV file. The row is left out; the others count.
type RowError struct {
	File string
	// Line counts from 1. It is that of the cell, in a row that spans several lines.
	Line int
	// Column is the name of the column, or empty for the row as a whole.
	Column  string
	Problem string
}

func (e RowError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
	}
	return fmt.Sprintf("%s:%d: column %s: %s", e.File, e.Line, e.Column, e.Problem)
}

// column is one column of a table of R.
type column[R any] struct {
	name string
	// required cells are not empty, and their column is not missing.
	required bool
	// maintainers' columns are not embedded.
	maintainers bool
	parse       func(cell string, row *R) error
	format      func(row R) string
}

// table describes a CSV format: how a row is read, checked, identified and written.
type table[R any] struct {
	columns []column[R]
	// check finds what is wrong between the cells of a row.
	check func(row R) error
	// key identifies a row. Sorted keys are the order in which rows are written.
	key    func(row R) string
	source func(row *R) *Source
}

// parse reads rows until the end of the text, however many of them are bad. A text without a usable
// header gives one error and no row. Lines that start with # are comments.
func (t table[R]) parse(file, text string) ([]R, []RowError) {
	reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	reader.Comment = '#'
	reader.FieldsPerRecord = -1
	header, err := reader.Read()
	if err != nil {
		return nil, []RowError{headerError(file, err)}
	}
	columns, bad := t.header(file, header)
	if bad != nil {
		return nil, []RowError{*bad}
	}
	p := parser[R]{table: t, file: file, columns: columns, lines: map[string]int{}}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return p.rows, p.bad
		}
		p.add(reader, record, err)
	}
}

func headerError(file string, err error) RowError {
	if errors.Is(err, io.EOF) {
		return RowError{File: file, Line: 1, Problem: "the file is empty: its first row must name the columns"}
	}
	return syntaxError(file, err)
}

// syntaxError translates an error of encoding/csv, of which every error but io.EOF is a ParseError.
func syntaxError(file string, err error) RowError {
	bad := RowError{File: file, Line: 1, Problem: err.Error()}
	if syntax, ok := errors.AsType[*csv.ParseError](err); ok {
		bad.Line, bad.Problem = syntax.Line, syntax.Err.Error()
	}
	return bad
}

// header finds the column of the table for each column of the file.
func (t table[R]) header(file string, names []string) ([]column[R], *RowError) {
	var columns []column[R]
	seen := map[string]bool{}
	for _, name := range names {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(t.columns, func(c column[R]) bool { return c.name == name })
		if i < 0 {
			return nil, &RowError{File: file, Line: 1, Column: name, Problem: "unknown column: use " + strings.Join(t.names(), ", ")}
		}
		if seen[name] {
			return nil, &RowError{File: file, Line: 1, Column: name, Problem: "the column is there twice"}
		}
		seen[name] = true
		columns = append(columns, t.columns[i])
	}
	for _, c := range t.columns {
		if c.required && !seen[c.name] {
			return nil, &RowError{File: file, Line: 1, Column: c.name, Problem: "the column is missing"}
		}
	}
	return columns, nil
}

func (t table[R]) names() []string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

// parser collects the rows of one file.
type parser[R any] struct {
	table   table[R]
	file    string
	columns []column[R]
	rows    []R
	bad     []RowError
	// lines is where each key was first seen.
	lines map[string]int
}

// add reads one record, which goes to rows or, with what is wrong with it, to bad.
func (p *parser[R]) add(reader *csv.Reader, record []string, err error) {
	if err != nil {
		p.bad = append(p.bad, syntaxError(p.file, err))
		return
	}
	line, _ := reader.FieldPos(0)
	if len(record) != len(p.columns) {
		p.refuse(line, "", fmt.Sprintf("%d cells, where the header names %d columns", len(record), len(p.columns)))
		return
	}
	var row R
	for i, c := range p.columns {
		if err := c.read(record[i], &row); err != nil {
			line, _ := reader.FieldPos(i)
			p.refuse(line, c.name, err.Error())
			return
		}
	}
	if err := p.table.check(row); err != nil {
		p.refuse(line, "", err.Error())
		return
	}
	key := p.table.key(row)
	if first, ok := p.lines[key]; ok {
		p.refuse(line, "", fmt.Sprintf("the same as line %d: give one row for %s", first, strings.ReplaceAll(key, "\x00", " ")))
		return
	}
	p.lines[key] = line
	p.rows = append(p.rows, row)
}

func (p *parser[R]) refuse(line int, column, problem string) {
	p.bad = append(p.bad, RowError{File: p.file, Line: line, Column: column, Problem: problem})
}

func (c column[R]) read(cell string, row *R) error {
	cell = strings.TrimSpace(cell)
	if cell != "" {
		return c.parse(cell, row)
	}
	if c.required {
		return errors.New("must not be empty")
	}
	return nil
}

// format writes rows in the order of their keys, without maintainers' columns.
func (t table[R]) format(rows []R) string {
	var text strings.Builder
	writer := csv.NewWriter(&text)
	var columns []column[R]
	for _, c := range t.columns {
		if !c.maintainers {
			columns = append(columns, c)
		}
	}
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	_ = writer.Write(record) // A strings.Builder takes everything.
	for _, row := range t.sorted(rows) {
		for i, c := range columns {
			record[i] = c.format(row)
		}
		_ = writer.Write(record)
	}
	writer.Flush()
	return text.String()
}

func (t table[R]) sorted(rows []R) []R {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b R) int { return strings.Compare(t.key(a), t.key(b)) })
}

// override puts rows over others of the same key, and before all others: of rules, whose SKUs overlap, the
// first one counts.
func (t table[R]) override(rows, over []R) []R {
	keys := map[string]bool{}
	for _, row := range over {
		keys[t.key(row)] = true
	}
	rest := slices.DeleteFunc(slices.Clone(rows), func(row R) bool { return keys[t.key(row)] })
	return append(slices.Clone(over), rest...)
}
