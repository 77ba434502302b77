import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

/** web/src/app/mantine.css, or the file that uses it, names the styles of each Mantine component of the console. */

const source = path.resolve(import.meta.dirname, '..')
const packages = path.resolve(source, '../../node_modules/@mantine')

/** Always needed: they belong to no component. */
const base = ['baseline', 'default-css-variables', 'global']

it('lists the styles of every Mantine component in use, and no others', () => {
  const frame = [...read(path.join(import.meta.dirname, 'mantine.css')).matchAll(/styles\/([\w-]+)\.css/g)]
  const pages = filesIn(source, /(?<!test)\.tsx$/).flatMap((file) => [
    ...read(file).matchAll(/^import '@mantine\/core\/styles\/([\w-]+)\.css'$/gm),
  ])
  const listed = [...frame.map(([, name]) => name!), ...new Set(pages.map(([, name]) => name!))]
  expect(listed.toSorted()).toEqual([...base, ...stylesInUse()].toSorted())
})

/** Follows the imports of the console through Mantine's modules; a component with styles imports `X.module.mjs`. */
function stylesInUse(): string[] {
  const exported = new Map(['core', 'modals', 'notifications'].map((name) => [name, exportsOf(name)]))
  const filesOfNames = (text: string) =>
    [...exported].flatMap(([name, files]) =>
      importsFrom(`@mantine/${name}`, text).flatMap((one) => files.get(one) ?? []),
    )
  const waiting = filesIn(source, /(?<!test)\.tsx?$/).flatMap((file) => filesOfNames(read(file)))
  const seen = new Set<string>()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    const [text, folder] = [read(file), path.dirname(file)]
    const relative = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, target]) => path.resolve(folder, target!))
    waiting.push(...relative, ...filesOfNames(text))
  }
  const names = [...seen].flatMap((file) => /([\w-]+)\.module\.mjs$/.exec(file)?.[1] ?? [])
  return names.filter((name) => existsSync(path.join(packages, 'core/styles', `${name}.css`)))
}

/** The file of each name that the index of a package of Mantine exports. */
function exportsOf(name: string): Map<string, string> {
  const folder = path.join(packages, name, 'esm')
  const lines = [...read(path.join(folder, 'index.mjs')).matchAll(/import \{([^}]*)\} from "(\.[^"]+)"/g)]
  return new Map(lines.flatMap(([, names, file]) => namesIn(names!).map((one) => [one, path.join(folder, file!)])))
}

function importsFrom(name: string, text: string): string[] {
  return [...text.matchAll(/import \{([^}]*)\} from ['"]([^'"]+)['"]/g)].flatMap(([, names, from]) =>
    from === name ? namesIn(names!) : [],
  )
}

const namesIn = (list: string) =>
  list
    .split(',')
    .map((name) => name.trim().split(' as ')[0]!)
    .filter((name) => name !== '' && !name.startsWith('type '))

function filesIn(folder: string, pattern: RegExp): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
}

const read = (file: string) => readFileSync(file, 'utf8')
