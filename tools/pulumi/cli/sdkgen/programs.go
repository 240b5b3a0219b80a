package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blang/semver"
	dotnet "github.com/pulumi/pulumi-dotnet/pulumi-language-dotnet/v3/codegen"
	"github.com/pulumi/pulumi-java/pkg/codegen/java"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	yaml "github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/codegen"
	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	hclsyntax "github.com/pulumi/pulumi/pkg/v3/codegen/hcl2/syntax"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

var programGenerators = map[string]yaml.GenerateFunc{
	"csharp":     dotnet.GenerateProgram,
	"go":         golang.GenerateProgram,
	"java":       java.GenerateProgram,
	"python":     python.GenerateProgram,
	"typescript": nodejs.GenerateProgram,
}

// convert writes the programs of a folder, each a folder with a Pulumi.yaml, in every other language.
func convert(schemaFile, programs, output string) error {
	pkg, err := bind(schemaFile)
	if err != nil {
		return err
	}
	found, err := os.ReadDir(programs)
	if err != nil {
		return err
	}
	var failures []error
	for _, entry := range found {
		failures = append(failures, convertProgram(pkg, entry.Name(), programs, output))
	}
	return errors.Join(failures...)
}

func convertProgram(pkg *schema.Package, name, programs, output string) error {
	var failures []error
	for _, language := range slices.Sorted(maps.Keys(programGenerators)) {
		// Generators change the program that they are given, so each gets its own.
		program, err := load(pkg, filepath.Join(programs, name, "Pulumi.yaml"))
		if err == nil {
			err = writeProgram(program, language, filepath.Join(output, name, language))
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s in %s: %w", name, language, err))
		}
	}
	return errors.Join(failures...)
}

func load(pkg *schema.Package, path string) (*pcl.Program, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	template, diagnostics, err := pulumiyaml.LoadYAML(path, file)
	if err != nil {
		return nil, err
	}
	if diagnostics.HasErrors() {
		return nil, diagnostics
	}
	return bindProgram(template, loader{schema.NewPluginLoader(nil), pkg})
}

// bindProgram does what the function EjectProgram of pulumi-yaml does, but calls the output form of functions: what
// generators write for the plain form does not compile in Go and in Java if a result is exported.
func bindProgram(template *ast.TemplateDecl, loader schema.ReferenceLoader) (*pcl.Program, error) {
	text, diagnostics, err := yaml.ConvertTemplateIL(template, loader)
	if err != nil {
		return nil, err
	}
	if diagnostics.HasErrors() {
		return nil, diagnostics
	}
	parser := hclsyntax.NewParser()
	if err := parser.ParseFile(strings.NewReader(text), "program.pp"); err != nil {
		return nil, err
	}
	if parser.Diagnostics.HasErrors() {
		return nil, parser.Diagnostics
	}
	program, diagnostics, err := pcl.BindProgram(parser.Files, loader, pcl.PreferOutputVersionedInvokes)
	if err == nil && diagnostics.HasErrors() {
		err = diagnostics
	}
	return program, err
}

func writeProgram(program *pcl.Program, language, folder string) error {
	files, diagnostics, err := programGenerators[language](program)
	if err != nil {
		return err
	}
	if diagnostics.HasErrors() {
		return diagnostics
	}
	return write(files, folder)
}

// loader gives one package without starting its plugin.
type loader struct {
	schema.ReferenceLoader
	pkg *schema.Package
}

func (l loader) LoadPackage(name string, version *semver.Version) (*schema.Package, error) {
	return l.LoadPackageV2(context.Background(), &schema.PackageDescriptor{Name: name, Version: version})
}

func (l loader) LoadPackageV2(ctx context.Context, wanted *schema.PackageDescriptor) (*schema.Package, error) {
	if wanted.Name == l.pkg.Name {
		return l.pkg, nil
	}
	return l.ReferenceLoader.LoadPackageV2(ctx, wanted)
}

func (l loader) LoadPackageReference(name string, version *semver.Version) (schema.PackageReference, error) {
	return l.LoadPackageReferenceV2(context.Background(), &schema.PackageDescriptor{Name: name, Version: version})
}

func (l loader) LoadPackageReferenceV2(
	ctx context.Context, wanted *schema.PackageDescriptor,
) (schema.PackageReference, error) {
	if wanted.Name == l.pkg.Name {
		return l.pkg.Reference(), nil
	}
	return l.ReferenceLoader.LoadPackageReferenceV2(ctx, wanted)
}
