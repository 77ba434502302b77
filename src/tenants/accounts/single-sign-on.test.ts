import { describe, expect, it } from 'vitest'
import { rolesOfGroups } from './single-sign-on.ts'

const mapping = [
  { group: 'platform', role: 'operator' },
  { group: 'admins', role: 'administrator', organisation: 'one' },
  { group: 'staff', role: 'member', organisation: 'one' },
  { group: 'staff', role: 'member', organisation: 'two' },
] as const

describe('the roles of groups', () => {
  it('are none without a mapped group', () => {
    expect(rolesOfGroups(['Platform', 'constructor', ''], mapping)).toEqual({
      isOperator: false,
      memberships: new Map(),
    })
  })

  it('are the higher ones, whatever the order of groups and mapping', () => {
    const memberships = new Map([
      ['one', 'administrator'],
      ['two', 'member'],
    ])
    for (const groups of [
      ['admins', 'staff'],
      ['staff', 'admins'],
    ])
      for (const table of [mapping, mapping.toReversed()])
        expect(rolesOfGroups(groups, table)).toEqual({ isOperator: false, memberships })
  })

  it('include the operator', () => {
    expect(rolesOfGroups(['platform'], mapping).isOperator).toBe(true)
  })
})
