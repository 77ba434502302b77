export { createJobQueue, type JobQueueOptions } from './job-queue.ts'
export { loadQueueDepths, type QueueDepth } from './job.store.ts'
export type { Job, JobMove, JobQueue, NewJob, WorkOptions } from './port.ts'
