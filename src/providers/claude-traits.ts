/**
 * Whether a Claude model takes an effort: Opus 4.5, Sonnet 4.6 and the fifth generation on do; older ones refuse the field.
 * Ids of Anthropic and of Bedrock (`eu.anthropic.claude-opus-4-6-v1`) both fit.
 */
export function knowsEffort(baseModel: string): boolean {
  return /claude-(opus-4-[5-9]|sonnet-4-[6-9]|[a-z]+-([5-9]|[1-9]\d)(?!\d))/.test(baseModel.replaceAll('.', '-'))
}
