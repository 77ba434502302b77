export { fromResponseObject } from './from-response.ts'
export { createResponsesStreamReader } from './from-stream.ts'
export { toResponsesRequest } from './to-request.ts'
