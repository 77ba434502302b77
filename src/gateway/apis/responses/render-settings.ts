/** What the response object repeats of its request, with the API's defaults in the place of absent fields. */
export interface RequestedSettings {
  instructions: string | null
  maxOutputTokens: number | null
  maxToolCalls: number | null
  metadata: Record<string, string>
  parallelToolCalls: boolean
  temperature: number
  topP: number
  topLogprobs: number
  presencePenalty: number
  frequencyPenalty: number
  reasoning: { effort: string | null; summary: string | null }
  format: object
  verbosity: string
  tools: object[]
  toolChoice: unknown
  user: string | undefined
  safetyIdentifier: string | null
  promptCacheKey: string | null
}

/** The members as JSON, without the braces. Made once for a request: a stream repeats them in three events. */
export function renderSettings(settings: RequestedSettings): string {
  const { user } = settings
  return JSON.stringify({
    background: false,
    instructions: settings.instructions,
    max_output_tokens: settings.maxOutputTokens,
    max_tool_calls: settings.maxToolCalls,
    metadata: settings.metadata,
    parallel_tool_calls: settings.parallelToolCalls,
    presence_penalty: settings.presencePenalty,
    frequency_penalty: settings.frequencyPenalty,
    previous_response_id: null,
    prompt_cache_key: settings.promptCacheKey,
    reasoning: settings.reasoning,
    safety_identifier: settings.safetyIdentifier,
    service_tier: 'default',
    store: false,
    temperature: settings.temperature,
    text: { format: settings.format, verbosity: settings.verbosity },
    tool_choice: settings.toolChoice,
    tools: settings.tools,
    top_logprobs: settings.topLogprobs,
    top_p: settings.topP,
    truncation: 'disabled',
    // The API has no null for it.
    ...(user !== undefined && { user }),
  }).slice(1, -1)
}
