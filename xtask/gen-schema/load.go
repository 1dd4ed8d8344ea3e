package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Package is one Go package of API types.
type Package struct {
	path   string // k8s.io/api/core/v1
	id     string // core/v1
	group  string
	types  []*Type
	byName map[string]*Type
	consts map[string]string // name -> value, of string constants
	enums  map[string][]string
}

// Type is one declaration.
type Type struct {
	name    string
	expr    ast.Expr
	markers Markers
	imports map[string]string // local name -> path, of the file that declares it
}

// Markers are the `+name=value` lines of a comment.
type Markers map[string][]string

func (m Markers) has(name string) bool { _, ok := m[name]; return ok }

func (m Markers) get(name string) string {
	if values := m[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func load(packages map[string]*Package, module, root, pattern string) error {
	dirs, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		relative, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		importPath := path.Join(module, relative)
		id := path.Join(path.Base(path.Dir(importPath)), path.Base(importPath))
		if skipped[id] {
			continue
		}
		pkg, err := parse(dir, importPath, id)
		if err != nil {
			return err
		}
		if len(pkg.types) > 0 {
			packages[importPath] = pkg
		}
	}
	return nil
}

func parse(dir, importPath, id string) (*Package, error) {
	pkg := &Package{path: importPath, id: id, byName: map[string]*Type{}, consts: map[string]string{}, enums: map[string][]string{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	for _, name := range files {
		base := filepath.Base(name)
		if strings.HasSuffix(base, "_test.go") || strings.Contains(base, "generated") || strings.HasSuffix(base, ".pb.gw.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		pkg.add(set, file)
	}
	return pkg, nil
}

func (p *Package) add(set *token.FileSet, file *ast.File) {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		local := path.Base(target)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imports[local] = target
	}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				found := &Type{name: spec.Name.Name, expr: spec.Type, imports: imports}
				found.markers = readMarkers(docs(set, file, general, spec)...)
				p.types = append(p.types, found)
				p.byName[found.name] = found
			case *ast.ValueSpec:
				p.addConst(general, spec)
			}
		}
	}
}

// docs are the comments of a declaration: markers may also stand in a block of its own right above it.
func docs(set *token.FileSet, file *ast.File, general *ast.GenDecl, spec *ast.TypeSpec) []*ast.CommentGroup {
	found := []*ast.CommentGroup{general.Doc, spec.Doc}
	start := general.Pos()
	if general.Doc != nil {
		start = general.Doc.Pos()
	}
	for _, group := range file.Comments {
		if group.End() < start && set.Position(group.End()).Line == set.Position(start).Line-2 {
			found = append(found, group)
		}
	}
	return found
}

func (p *Package) addConst(general *ast.GenDecl, spec *ast.ValueSpec) {
	if general.Tok != token.CONST {
		return
	}
	for i, name := range spec.Names {
		if i >= len(spec.Values) {
			return
		}
		literal, ok := spec.Values[i].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			continue
		}
		p.consts[name.Name] = value
		if name.Name == "GroupName" {
			p.group = value
		}
		if named, ok := spec.Type.(*ast.Ident); ok {
			p.enums[named.Name] = append(p.enums[named.Name], value)
		}
	}
}

func readMarkers(groups ...*ast.CommentGroup) Markers {
	markers := Markers{}
	for _, group := range groups {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			line := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
			if !strings.HasPrefix(line, "+") {
				continue
			}
			name, value, _ := strings.Cut(line[1:], "=")
			markers[name] = append(markers[name], value)
		}
	}
	return markers
}
