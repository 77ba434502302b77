import { describe, expect, test } from 'vitest'
import { createAdapter } from './create-provider.ts'
import type { ProviderSettings } from './port.ts'

const base = { id: 'p', apiKey: 'k', baseUrl: 'http://h.test', region: 'eu-central-1' }

/** An error of each format with its message only. */
const refusals: Partial<Record<ProviderSettings['format'], (message: string) => object>> = {
  openai: (message) => ({ error: { message, type: 'invalid_request_error' } }),
  azure: (message) => ({ error: { message, code: 'BadRequest' } }),
  anthropic: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  gemini: (message) => ({ error: { code: 400, status: 'FAILED_PRECONDITION', message } }),
  bedrock: (message) => ({ __type: 'ValidationException', message }),
  cohere: (message) => ({ message }),
  ollama: (message) => ({ error: message }),
}

describe.each(Object.entries(refusals))('an unknown refusal of %s', (format, refusal) => {
  const settings = { ...base, format } as ProviderSettings
  const classOf = (message: string, status = 400) =>
    createAdapter(settings).mapError({ status, headers: {}, body: JSON.stringify(refusal(message)) }).errorClass

  test.each([
    ['Account acme is suspended.', 'quota'],
    ['Please check your plan and billing details.', 'quota'],
    ["Your team doesn't have any credits yet.", 'quota'],
    ['Your API key was disabled.', 'authentication'],
    ['用户额度不足, 剩余额度: 0.00', 'quota'],
    ['您的帳戶餘額不足', 'quota'],
    ['无效的令牌', 'authentication'],
    ['アカウント acme は停止されています。', 'quota'],
    ['계정 acme 의 결제가 실패했습니다', 'quota'],
    ['Недостаточно средств на балансе acme', 'quota'],
    ['Неверный API-ключ', 'authentication'],
    ['Das Guthaben von acme reicht nicht aus.', 'quota'],
    ['Ungültiger API-Schlüssel', 'authentication'],
    ['Le solde de acme est épuisé.', 'quota'],
    ['Clé API invalide', 'authentication'],
    ['La suscripción de acme ha caducado.', 'quota'],
    ['A sua conta acme foi bloqueada.', 'quota'],
    ['Chiave API non valida', 'authentication'],
    ['Uw tegoed is op, acme.', 'quota'],
    ['Hesap acme askıya alındı.', 'quota'],
    ['Tài khoản acme đã bị khóa', 'quota'],
    ['Akun acme ditangguhkan', 'quota'],
    ['Účet acme je pozastaven', 'quota'],
    ['Рахунок acme заблоковано', 'quota'],
    ['Your plan acme-pro does not include this model.', 'quota'],
    ['Your free trial has expired.', 'quota'],
    ['License acme-42 has expired.', 'quota'],
    ['No card on file for acme.', 'quota'],
    ['Budget has been exceeded! Current cost: 12.3, Max budget: 10', 'quota'],
    ['Reached daily cost limit of 5 USD for acme', 'quota'],
    ['Tenant acme-corp has been blocked.', 'quota'],
    ['This user (acme@corp.test) has been deactivated', 'quota'],
    ['You have been banned for violating the terms: acme', 'quota'],
    ['Access denied for acme', 'authentication'],
    ['Customer acme is not allowed to use this model', 'authentication'],
    ['IP address 192.0.2.1 is not allowed', 'authentication'],
    ['Token expired', 'authentication'],
    ['Incorrect key', 'authentication'],
    ['The security token included in the request is invalid.', 'authentication'],
    ['Please verify your identity (KYC) to use this model', 'authentication'],
  ])('that speaks of the account or its key is the operator’s: %s', (message, errorClass) => {
    expect(classOf(message)).toBe(errorClass)
    expect(classOf(message, 412)).toBe(errorClass)
  })

  test('that speaks of the request is the client’s', () => {
    expect(classOf('Field "credits" of tool "account" is not supported.')).toBe('invalid_request')
    for (const message of [
      'The user prompt was blocked by our filter.',
      'Invalid `signature` in `thinking` block',
      'The thinking budget exceeded the maximum of 1000',
      'Unexpected token < in JSON',
      'Unable to download image: Access denied',
      'The role tool is not allowed to use content parts',
    ])
      expect(classOf(message), message).toBe('invalid_request')
    for (const message of ['參數錯誤：請求不合法', '参数错误', 'Ungültiger Wert für temperature', 'Неверный параметр'])
      expect(classOf(message)).toBe('invalid_request')
    expect(classOf('The input is too long for this model: shorter input needed.')).toBe('context_length')
  })
})
