export { answer } from './answer.ts'
export { callIdsOf } from './call-ids.ts'
export { chatRoutes } from './chat.routes.ts'
export { removeMarkers } from './citations/citation-rewriter.ts'
export { prepareAnswer } from './prepare-answer.ts'
export type { AnswerDependencies } from './port.ts'

export { spaceSearchRoutes } from './search.routes.ts'
