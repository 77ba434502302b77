import { AppError } from '../../platform/kernel/index.ts'

export function tooManySearches(): AppError {
  return new AppError('overloaded', 'Your organisation has too many searches at once. Try again in a moment.', {
    retryAfterSeconds: 1,
  })
}
