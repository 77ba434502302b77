export { createJobQueue } from './job-queue.ts'
export { loadQueueDepths } from './job.store.ts'
export { loadQueueState } from './queue-state.store.ts'
export type { Job, JobMove, JobQueue, NewJob, WorkOptions } from './port.ts'
