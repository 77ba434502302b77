/** What a process does. `all` does everything; the others divide the work of an installation between processes. */
export const roles = ['all', 'gateway', 'api', 'worker'] as const
export type Role = (typeof roles)[number]

/** Whether processes of the role do the background work on documents and golden questions. */
export const runsJobs = (role: Role): boolean => role === 'all' || role === 'worker'
