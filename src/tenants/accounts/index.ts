export { type Accounts, createAccounts } from './accounts.ts'
export { authRoutes } from './auth.routes.ts'
export type { PasswordHashing } from './sign-in-library.ts'

export { describeInvitation, describeMember, describePerson } from './person.ts'
export { memberRoutes } from './members.routes.ts'
export { passwordResetRoutes } from './password-resets.routes.ts'
export { peopleRoutes } from './people.routes.ts'
