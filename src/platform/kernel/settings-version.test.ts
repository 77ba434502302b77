import { expect, test } from 'vitest'
import { assertVersion, versionOf } from './settings-version.ts'

const settings = { name: 'Team', limits: { calls: 3, uploads: 2 }, models: ['a', 'b'] }

test('a version is that of the values, in any order of the fields', () => {
  const version = versionOf(settings)
  expect(version).toMatch(/^[\w-]{22}$/)
  expect(versionOf({ models: ['a', 'b'], limits: { uploads: 2, calls: 3 }, name: 'Team' })).toBe(version)
  const others = [{ name: 'team' }, { limits: { calls: 3, uploads: null } }, { models: ['b', 'a'] }, { extra: 1 }]
  for (const other of others) expect(versionOf({ ...settings, ...other })).not.toBe(version)
})

test('settings of another version than the expected one are a conflict', () => {
  assertVersion(undefined, settings)
  assertVersion(`"${versionOf(settings)}"`, settings)
  expect(() => assertVersion(`"${versionOf({ ...settings, name: 'Other' })}"`, settings)).toThrow(
    expect.objectContaining({ code: 'conflict', param: 'if-match' }),
  )
})
