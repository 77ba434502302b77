import { describe, expect, it } from 'vitest'
import {
  findPackageProblems,
  findSbomProblems,
  readAudit,
  readLockedPackages,
  renderLicences,
  withoutTools,
} from './packages.ts'

const entry = { version: '1.0.0', license: 'MIT', integrity: 'sha512-x' }
const read = (packages: Record<string, object>) => readLockedPackages({ packages: { '': {}, ...packages } })
const problemsOf = (packages: Record<string, object>) => findPackageProblems(read(packages))

describe('the rules for packages', () => {
  it('refuse install scripts, missing hashes and licences outside the list', () => {
    expect(problemsOf({ 'node_modules/a': entry })).toEqual([])
    expect(problemsOf({ 'node_modules/a': { ...entry, hasInstallScript: true } })).toEqual([
      'a@1.0.0 runs a script when it is installed',
    ])
    expect(problemsOf({ 'node_modules/a': { ...entry, integrity: undefined } })[0]).toContain('no integrity hash')
    for (const license of ['GPL-3.0', 'MIT AND GPL-3.0', 'UNLICENSED', undefined])
      expect(problemsOf({ 'node_modules/a/node_modules/@s/b': { ...entry, license } })[0]).toMatch(
        /^@s\/b@1\.0\.0 has the/,
      )
  })

  it('accept a choice of licences, and any licence of a development tool', () => {
    expect(problemsOf({ 'node_modules/a': { ...entry, license: '(MIT OR GPL-3.0)' } })).toEqual([])
    expect(problemsOf({ 'node_modules/a': { ...entry, license: 'GPL-3.0', dev: true } })).toEqual([])
    const both = {
      'node_modules/a': { ...entry, license: 'GPL-3.0', dev: true },
      'node_modules/b/node_modules/a': entry,
    }
    expect(read(both)).toMatchObject([{ name: 'a', isDevelopment: false }])
  })
})

describe('the page of licences', () => {
  it('has the packages of production only', () => {
    const page = renderLicences(read({ 'node_modules/a': entry, 'node_modules/tool': { ...entry, dev: true } }))
    expect(page).toContain('| MIT | 1 |')
    expect(page).toContain('| a | 1.0.0 | MIT |')
    expect(page).not.toContain('tool')
  })
})

describe('a bill of materials', () => {
  const packages = read({ 'node_modules/a': entry, 'node_modules/tool': { ...entry, dev: true } })
  const component = { name: 'a', version: '1.0.0', purl: 'pkg:npm/a@1.0.0', hashes: [{}] }
  const sbom = { bomFormat: 'CycloneDX', specVersion: '1.5', components: [component] }

  it('has every package of production with its hash', () => {
    expect(findSbomProblems(sbom, packages)).toEqual([])
    expect(findSbomProblems({ ...sbom, components: [] }, packages)).toEqual(['a@1.0.0 is missing'])
    expect(findSbomProblems({ ...sbom, components: [{ ...component, hashes: [] }] }, packages)[0]).toContain('no hash')
    const tool = { name: 'tool', version: '1.0.0', 'bom-ref': 'tool@1.0.0' }
    const dependencies = [
      { ref: 'portico', dependsOn: ['a@1.0.0', 'tool@1.0.0'] },
      { ref: 'tool@1.0.0', dependsOn: ['a@1.0.0'] },
    ]
    const named = { ...component, 'bom-ref': 'a@1.0.0' }
    expect(withoutTools({ ...sbom, components: [named, tool], dependencies }, packages)).toEqual({
      ...sbom,
      components: [named],
      dependencies: [{ ref: 'portico', dependsOn: ['a@1.0.0'] }],
    })
    expect(findSbomProblems({}, packages)).toEqual(['it is no CycloneDX document'])
  })
})

describe('an audit', () => {
  it('reports serious vulnerabilities, and why there is no report', () => {
    const report = { vulnerabilities: { a: { severity: 'high' }, b: { severity: 'low' } } }
    expect(readAudit(JSON.stringify(report))).toEqual({ vulnerable: ['a: high'] })
    expect(readAudit(JSON.stringify({ message: '405 Method Not Allowed' }))).toEqual({
      unavailable: '405 Method Not Allowed',
    })
    expect(readAudit('')).toEqual({ unavailable: 'it printed no JSON' })
  })
})
