import type { OfferedIdView, OfferedModelView } from '@contract/console-developer-tools.ts'
import type { Attachment } from './attachments.ts'
import type { RequestSettings } from './request.ts'

/** What a request needs from its model beyond text, in the words of `capabilities`. */
export type Need = 'tools' | 'json_schema' | 'images' | 'files'

export interface CallableId extends OfferedIdView {
  maxOutputTokens: number
}

/** The ids that a completion accepts, with what is known of them. */
export function callableModels(models: OfferedModelView[]): CallableId[] {
  return models.flatMap(({ enabled, standard, eu, maxOutputTokens }) =>
    enabled ? [standard, eu].flatMap((side) => (side ? [{ ...side, maxOutputTokens }] : [])) : [],
  )
}

export function needsOf(
  { hasTools, hasSchema }: { hasTools: boolean; hasSchema: boolean },
  attachments: readonly Attachment[],
): Need[] {
  const has = (wanted: Attachment['kind']) => attachments.some(({ kind }) => kind === wanted)
  return [
    ...(hasTools ? (['tools'] as const) : []),
    ...(hasSchema ? (['json_schema'] as const) : []),
    ...(has('image') ? (['images'] as const) : []),
    ...(has('pdf') ? (['files'] as const) : []),
  ]
}

/** What the model cannot do of it. */
export const missingOf = ({ capabilities }: Pick<OfferedIdView, 'capabilities'>, needs: readonly Need[]) =>
  needs.filter((need) => !capabilities.includes(need))

/** The field of the form that an error of the gateway concerns. */
export function fieldOf(param: string | undefined): 'model' | 'tools' | 'schema' | keyof RequestSettings | undefined {
  if (param === undefined) return undefined
  if (/^(tools|tool_choice|parallel_tool_calls)\b/.test(param)) return 'tools'
  if (param.startsWith('response_format')) return 'schema'
  if (/^max_(completion_)?tokens$/.test(param)) return 'maximumTokens'
  return param === 'model' || param === 'temperature' ? param : undefined
}
