import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface LockedPackage {
  devOptional?: boolean
}

test('npm ci --omit=dev installs no development tool as an optional peer of a dependency', () => {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
  )
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100)
  // npm marks such packages, and --omit=dev alone keeps them; see .npmrc.
  expect(Object.keys(lock.packages).filter((name) => lock.packages[name]!.devOptional)).toEqual([])
})
