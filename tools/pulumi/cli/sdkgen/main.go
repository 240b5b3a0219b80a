// Command sdkgen writes a package's SDK in one language with Pulumi's own generators, in the form that
// `pulumi package gen-sdk --local` writes: a folder that programs can use without publishing it.
//
// It serves where the full language hosts, which `pulumi package gen-sdk` needs, cannot be installed.
//
// With `programs` in place of a language, it converts programs from YAML to every other language.
//
// Usage: sdkgen LANGUAGE SCHEMA_FILE OUTPUT_FOLDER, or sdkgen programs SCHEMA_FILE OUTPUT_FOLDER PROGRAMS_FOLDER
package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	dotnet "github.com/pulumi/pulumi-dotnet/pulumi-language-dotnet/v3/codegen"
	"github.com/pulumi/pulumi-java/pkg/codegen/java"
	"github.com/pulumi/pulumi/pkg/v3/codegen"
	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const (
	tool  = "gcpx" // whom the first line of every file names as its generator
	local = true
)

//go:embed logo.png
var images embed.FS

var generators = map[string]func(*schema.Package) (map[string][]byte, error){
	"dotnet": func(pkg *schema.Package) (map[string][]byte, error) {
		useEmbeddedLogo(pkg)
		keepOwnExamples(pkg)
		return dotnet.GeneratePackage(tool, pkg, nil, nil)
	},
	"go": func(pkg *schema.Package) (map[string][]byte, error) {
		return golang.GeneratePackage(tool, pkg, nil)
	},
	"java": func(pkg *schema.Package) (map[string][]byte, error) {
		return java.GeneratePackage(tool, pkg, nil, nil, local, false)
	},
	"nodejs": func(pkg *schema.Package) (map[string][]byte, error) {
		return nodejs.GeneratePackage(tool, pkg, nil, nil, local, nil)
	},
	"python": func(pkg *schema.Package) (map[string][]byte, error) {
		return python.GeneratePackage(tool, pkg, nil, nil)
	},
}

func main() {
	var err error
	switch {
	case len(os.Args) == 5 && os.Args[1] == "programs":
		err = convert(os.Args[2], os.Args[4], os.Args[3])
	case len(os.Args) == 4:
		err = run(os.Args[1], os.Args[2], os.Args[3])
	default:
		fmt.Fprintln(os.Stderr, "usage: sdkgen LANGUAGE SCHEMA_FILE OUTPUT_FOLDER")
		fmt.Fprintln(os.Stderr, "       sdkgen programs SCHEMA_FILE OUTPUT_FOLDER PROGRAMS_FOLDER")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sdkgen:", err)
		os.Exit(1)
	}
}

func run(language, schemaFile, folder string) error {
	generate, known := generators[language]
	if !known {
		languages := slices.Sorted(maps.Keys(generators))
		return fmt.Errorf("no generator for %q; the languages are %s", language, strings.Join(languages, ", "))
	}
	pkg, err := bind(schemaFile)
	if err != nil {
		return err
	}
	files, err := generate(pkg)
	if err != nil {
		return err
	}
	return write(files, folder)
}

func bind(schemaFile string) (*schema.Package, error) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, err
	}
	pkg, diagnostics, err := schema.BindSpec(spec, schema.NewPluginLoader(nil), schema.ValidationOptions{})
	if err != nil {
		return nil, err
	}
	if diagnostics.HasErrors() {
		return nil, diagnostics
	}
	return pkg, nil
}

func write(files map[string][]byte, folder string) error {
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// keepOwnExamples removes the examples in other languages from the descriptions of functions, because the .NET generator
// does so for resources only.
func keepOwnExamples(pkg *schema.Package) {
	for _, function := range pkg.Functions {
		function.Comment = codegen.FilterExamples(function.Comment, "csharp")
	}
}

// useEmbeddedLogo keeps the .NET generator, which downloads the package's logo, off the network. It also gives the logo
// as PNG, drawn from docs/logo.svg: NuGet accepts no SVG.
func useEmbeddedLogo(pkg *schema.Package) {
	http.DefaultTransport.(*http.Transport).RegisterProtocol("file", http.NewFileTransportFS(images))
	pkg.LogoURL = "file:///logo.png"
}
