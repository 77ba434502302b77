export { createJobQueue, type JobQueueOptions } from './job-queue.ts'
export type { Job, JobQueue, NewJob, WorkOptions } from './port.ts'
