import { type Clock, systemClock } from '../../src/platform/kernel/index.ts'

/**
 * The clock of services whose tests wait for background work: it repeats ten times as often. What the time is and how long a pause lasts stay
 * true, so limits per minute, expiries and times in answers are those of every service.
 */
export const hastyClock: Clock = {
  ...systemClock,
  every: (ms, task) => systemClock.every(ms / 10, task),
}
