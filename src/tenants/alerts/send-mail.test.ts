import { once } from 'node:events'
import net from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createSendMail, type MailServer } from './send-mail.ts'

/** A server that speaks as much SMTP as one message needs. `answers` replaces its answer to a command. */
async function startMailServer(answers: Record<string, string> = {}) {
  const commands: string[] = []
  let message = ''
  const server = net.createServer((socket) => {
    let isData = false
    let rest = ''
    const reply = (text: string) => socket.write(`${text}\r\n`)
    reply('220 mail.example.org ESMTP')
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      rest += bytes.toString()
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (isData) {
          if (line !== '.') message += `${line}\n`
          else {
            isData = false
            reply('250 queued')
          }
          continue
        }
        commands.push(line)
        const verb = line.split(' ')[0]!.toUpperCase()
        const answer = answers[verb]
        if (answer) reply(answer)
        else if (verb === 'EHLO') reply('250-mail.example.org\r\n250 AUTH PLAIN')
        else if (verb === 'AUTH') reply('235 accepted')
        else if (verb === 'DATA') {
          isData = true
          reply('354 go ahead')
        } else reply(verb === 'QUIT' ? '221 bye' : '250 ok')
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as net.AddressInfo).port, commands, message: () => message }
}

const settings = (port: number, changes: Partial<MailServer> = {}): MailServer => ({
  host: '127.0.0.1',
  port,
  encryption: 'none',
  user: undefined,
  password: undefined,
  from: 'Portico <portico@example.org>',
  certificateAuthority: undefined,
  ...changes,
})
const mail = { id: 'an-id', to: ['one@example.org', 'two@example.org'], subject: 'Alert: ä', text: 'A text.\n' }

test('sends one message to all recipients, with the name and password of the server', async () => {
  const server = await startMailServer()
  await createSendMail(settings(server.port, { user: 'portico', password: 'secret' }))(mail)
  expect(server.commands).toContain(`AUTH PLAIN ${Buffer.from('\0portico\0secret').toString('base64')}`)
  expect(server.commands.filter((line) => line.startsWith('RCPT'))).toEqual([
    'RCPT TO:<one@example.org>',
    'RCPT TO:<two@example.org>',
  ])
  expect(server.message()).toContain('A text.')
  expect(server.message()).toMatch(/^Message-ID: <an-id@127\.0\.0\.1>$/im)
})

test('rejects when the server refuses the message', async () => {
  const server = await startMailServer({ MAIL: '550 unknown sender' })
  await expect(createSendMail(settings(server.port))(mail)).rejects.toThrow('550')
})

test('sends nothing without encryption unless the operator has allowed it', async () => {
  const server = await startMailServer()
  await expect(createSendMail(settings(server.port, { encryption: 'starttls' }))(mail)).rejects.toThrow()
  expect(server.message()).toBe('')
  expect(server.commands.some((line) => /^(AUTH|MAIL)/.test(line))).toBe(false)
})
