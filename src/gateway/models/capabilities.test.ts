import { describe, expect, test } from 'vitest'
import { type Capability, resolveTraits } from '../providers/index.ts'
import { canServe } from './create-catalogue.ts'

describe('a deployment', () => {
  test.each<
    [string, string, 'anthropic' | 'openai' | 'ollama' | 'cohere' | 'gemini' | 'bedrock', Capability[], Capability[]]
  >([
    [
      'openai',
      'gpt-4o',
      'openai',
      ['images', 'files', 'json_schema', 'logprobs', 'parallel_tools'],
      ['audio', 'use:web_fetch', 'hosted:anthropic'],
    ],
    ['openai', 'gpt-4o-audio-preview', 'openai', ['audio'], ['images']],
    ['deepseek', 'deepseek-chat', 'openai', ['tools', 'json_schema'], ['images']],
    [
      'anthropic',
      'claude-sonnet-4-5',
      'anthropic',
      ['images', 'files', 'json_object', 'hosted:anthropic'],
      ['audio', 'several_choices'],
    ],
    ['gemini', 'gemini-2.5-flash', 'gemini', ['audio', 'hosted:gemini'], ['tools_with_schema', 'parallel_tools']],
    [
      'bedrock',
      'eu.anthropic.claude-sonnet-4-5-v1:0',
      'bedrock',
      ['images', 'json_schema'],
      ['parallel_tools', 'hosted:anthropic'],
    ],
    ['cohere', 'command-a-vision-07-2025', 'cohere', ['images', 'named_tool_choice'], ['files']],
    ['ollama', 'llama3.3', 'ollama', ['tools', 'images', 'named_tool_choice'], ['forced_tools', 'files']],
    ['perplexity', 'sonar', 'openai', ['images'], ['tools', 'named_tool_choice']],
  ])('at %s with %s serves what its traits allow', (host, baseModel, format, able, unable) => {
    const traits = resolveTraits(host as 'openai', { baseModel })
    const serves = (capability: Capability) => canServe({ traits, format }, capability)
    expect(able.filter((capability) => !serves(capability))).toEqual([])
    expect(unable.filter(serves)).toEqual([])
  })
})
