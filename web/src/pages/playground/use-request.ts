import { useMemo, useState } from 'react'
import type { Attachment } from './attachments.ts'
import { type CallableId, fieldOf, missingOf, needsOf } from './model-needs.ts'
import type { Answer, RequestSettings } from './request.ts'
import type { FormProblems, PlaygroundSettings } from './settings-form.tsx'
import { readSchema, readTools } from './tool-definitions.ts'

interface RequestState {
  settings: PlaygroundSettings
  models: CallableId[]
  /** Of the conversation and of the next message. */
  attachments: Attachment[]
  lastError: Answer['error']
}

/** The form as a request, and what is wrong with it. */
export function useRequest({ settings, models, attachments, lastError }: RequestState) {
  const { model, system, temperature, maximumTokens, hasTools, hasSchema } = settings
  const tools = useMemo(() => (hasTools ? readTools(settings.tools) : { value: [] }), [hasTools, settings.tools])
  const schema = useMemo(
    () => (hasSchema ? readSchema(settings.schema) : { value: undefined }),
    [hasSchema, settings.schema],
  )
  const [areShown, showProblems] = useState(false)
  /** The settings of the last request: its error concerns these only. */
  const [sent, setSent] = useState<PlaygroundSettings>()

  const needs = needsOf({ hasTools: 'value' in tools && tools.value.length > 0, hasSchema }, attachments)
  const chosen = models.find(({ id }) => id === model)
  const refused = sent === settings ? fieldOf(lastError?.param) : undefined
  const problems: FormProblems = {
    tools: 'problem' in tools ? tools.problem : undefined,
    schema: 'problem' in schema ? schema.problem : undefined,
    missing: chosen ? missingOf(chosen, needs) : [],
    refusals: refused === undefined ? {} : { [refused]: lastError?.message },
    areShown,
  }
  const request: RequestSettings = {
    model,
    system,
    temperature,
    maximumTokens,
    tools: 'value' in tools ? tools.value : [],
    schema: 'value' in schema ? schema.value : undefined,
  }
  const isReady = !problems.tools && !problems.schema && problems.missing.length === 0
  return {
    request,
    needs,
    problems,
    /** An attempt to send has failed, and its cause is still there. */
    isBlocked: areShown && !isReady,
    /** The request if it can be sent; shows the problems otherwise. */
    prepare(): RequestSettings | undefined {
      showProblems(!isReady)
      if (isReady) setSent(settings)
      return isReady ? request : undefined
    },
  }
}
