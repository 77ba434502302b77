import { AppError } from '../../platform/kernel/index.ts'

/** Longest part of an id that an error repeats, in characters. */
const shownIdLength = 100

/**
 * The same error for a model that is unknown, disabled, retired, without a price, of another kind or not in the plan. It names the list of the
 * version that the client uses.
 */
export function modelNotFound(id: string, version: 1 | 2 = 1): AppError {
  return new AppError(
    'model_not_found',
    `The model \`${id.slice(0, shownIdLength)}\` does not exist or is not available to your organisation. GET /v${version}/gateway/models lists the models you can use.`,
    { param: 'model' },
  )
}
