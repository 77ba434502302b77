import type { MembershipRole } from '../../contract/people.ts'
import type { GroupRoles } from './person.ts'

/** One group of the provider and the role that it gives. */
export type GroupRole =
  | { readonly group: string; readonly role: 'operator' }
  | { readonly group: string; readonly role: MembershipRole; readonly organisation: string }

/** The roles of a person with these groups; of several roles in one organisation the higher one. */
export function rolesOfGroups(groups: readonly string[], mapping: readonly GroupRole[]): GroupRoles {
  const held = new Set(groups)
  const memberships = new Map<string, MembershipRole>()
  let isOperator = false
  for (const given of mapping) {
    if (!held.has(given.group)) continue
    if (given.role === 'operator') isOperator = true
    else if (memberships.get(given.organisation) !== 'administrator') memberships.set(given.organisation, given.role)
  }
  return { isOperator, memberships }
}
