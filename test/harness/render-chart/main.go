// Renders a Helm chart without Helm: render-chart CHART NAMESPACE RELEASE < VALUES.yaml
//
// The template engine (text/template), the functions (sprig) and YAML (sigs.k8s.io/yaml) are the libraries that Helm uses, from Debian's packages.
// Only what Helm adds to them and our chart uses is here: include, toYaml, fail, the built-in objects, and values over defaults.
// The output is one YAML document for each template; NOTES.txt goes to standard error.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 4 {
		stop(errors.New("usage: render-chart CHART NAMESPACE RELEASE < VALUES.yaml"))
	}
	chartFolder, namespace, release := os.Args[1], os.Args[2], os.Args[3]
	given, err := io.ReadAll(os.Stdin)
	stop(err)
	values := merge(read(filepath.Join(chartFolder, "values.yaml")), parse(given))
	chart := read(filepath.Join(chartFolder, "Chart.yaml"))
	data := map[string]interface{}{
		"Values":  values,
		"Chart":   map[string]interface{}{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
		"Release": map[string]interface{}{"Name": release, "Namespace": namespace, "Service": "Helm"},
	}

	// As Helm: values that are missing are empty.
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	// Helm removes them.
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	all.Funcs(functions)

	files, err := filepath.Glob(filepath.Join(chartFolder, "templates", "*"))
	stop(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		stop(err)
		_, err = all.New(filepath.Base(file)).Parse(string(text))
		stop(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var text strings.Builder
		stop(all.ExecuteTemplate(&text, name, data))
		rendered := strings.ReplaceAll(text.String(), "<no value>", "")
		if name == "NOTES.txt" {
			fmt.Fprint(os.Stderr, rendered)
		} else if strings.TrimSpace(rendered) != "" {
			fmt.Printf("---\n# %s\n%s\n", name, rendered)
		}
	}
}

// Given values replace defaults; null removes one.
func merge(defaults, given map[string]interface{}) map[string]interface{} {
	for key, value := range given {
		inner, isMap := value.(map[string]interface{})
		old, wasMap := defaults[key].(map[string]interface{})
		switch {
		case value == nil:
			delete(defaults, key)
		case isMap && wasMap:
			defaults[key] = merge(old, inner)
		default:
			defaults[key] = value
		}
	}
	return defaults
}

func read(file string) map[string]interface{} {
	text, err := os.ReadFile(file)
	stop(err)
	return parse(text)
}

func parse(text []byte) map[string]interface{} {
	values := map[string]interface{}{}
	stop(yaml.Unmarshal(text, &values))
	return values
}

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
