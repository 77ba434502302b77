import { readFileSync } from 'node:fs'
import semver from 'semver'
import { expect, test } from 'vitest'

interface LockedPackage {
  devOptional?: boolean
  engines?: { node?: string }
}

const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
)

test('npm ci --omit=dev installs no development tool as an optional peer of a dependency', () => {
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100)
  // npm marks such packages, and --omit=dev alone keeps them; see .npmrc.
  expect(Object.keys(lock.packages).filter((name) => lock.packages[name]!.devOptional)).toEqual([])
})

test('every package accepts the Node.js versions that the README names, so that npm ci prints no warning', () => {
  // The last release of Node.js 20, and the first ones with long-term support of the later lines.
  const versions = ['20.20.2', '22.13.0', '24.11.0']
  const refusing = Object.entries(lock.packages).flatMap(([name, { engines }]) =>
    versions
      .filter((version) => !semver.satisfies(version, engines?.node ?? '*'))
      .map((version) => `${name} refuses Node.js ${version}: ${engines!.node}`),
  )
  expect(refusing).toEqual([])
})
