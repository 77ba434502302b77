export { type Accounts, createAccounts } from './accounts.ts'
export { authRoutes } from './auth.routes.ts'
export { memberRoutes } from './members.routes.ts'
export { peopleRoutes } from './people.routes.ts'
