import { importProcess } from '../../src/app/bundle.ts'
import { hastyClock } from './hasty-clock.ts'

/**
 * The entry of a service with the times of tests, which only this file reads: silent instances are presumed dead after
 * TEST_INSTANCE_EXPIRY_MS, and TEST_HASTY repeats its background work ten times as often.
 */
const { TEST_INSTANCE_EXPIRY_MS: expiry, TEST_HASTY: isHasty } = process.env
const { runProcess } = await importProcess()
await runProcess({
  ...(expiry !== undefined && { instanceExpiryMs: Number(expiry) }),
  ...(isHasty !== undefined && { clock: hastyClock }),
})
