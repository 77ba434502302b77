import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/CheckboxIndicator.css'
import '@mantine/core/styles/CheckboxCard.css'
import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { CheckedToolServerBody, ToolServerBody } from '@contract/space-tools.ts'
import { postJson, putJson } from '../../api/client.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { CredentialFields } from './credential-fields.tsx'
import { DocumentField } from './document-field.tsx'
import { toolServersQuery, toolsPath, useFreshServer, type VersionedServer, withVersion } from './queries.ts'
import { bodyOf, checkOf, draftOf, type ServerDraft, type ShownTool } from './server-draft.ts'
import { ToolChoice } from './tool-choice.tsx'

interface ServerDialogProps {
  spaceId: string
  kind: ToolServerBody['kind']
  server?: ToolServerBody
  onClose: () => void
}

const fields = ['name', 'url', 'credential', 'document', 'allowed']

/** Adds a tool server or changes one: its address, its credential, and which of its tools answers may use. */
export function ServerDialog({ spaceId, kind, server, onClose }: ServerDialogProps) {
  const { t } = useTranslation('space-tools')
  const { errors, attempt } = useFieldErrors(fields, { other: 'allowed' })
  const check = useMutation({
    mutationFn: () => postJson<CheckedToolServerBody>(`${toolsPath(spaceId)}/check`, checkOf(draft, server)),
    onSuccess(read) {
      if (draft.url.trim() === '' && read.url !== null) change({ url: read.url })
    },
  })
  const form = useServerForm({ spaceId, kind, server }, check.data?.tools)
  const { draft, set: change, tools } = form
  const save = useMutation({ mutationFn: () => form.save() })
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    let isSaved = false
    if (!(await attempt(async () => (isSaved = await save.mutateAsync()))) || !isSaved) return
    notifySuccess(t('saved'))
    onClose()
  }
  const isMcp = kind === 'mcp'
  const title = server ? t('editTitle', { name: server.name }) : isMcp ? t('addMcp') : t('addOpenapi')
  return (
    <Dialog opened onClose={onClose} title={title} size="lg">
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="md">
          <TextInput
            data-autofocus
            label={t('name')}
            description={t('nameHint')}
            placeholder="crm"
            maxLength={20}
            value={draft.name}
            error={errors['name']}
            onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          />
          {!isMcp && <DocumentField draft={draft} onChange={change} error={errors['document']} isStored={!!server} />}
          <TextInput
            label={isMcp ? t('url') : t('baseUrl')}
            description={isMcp ? t('urlHint') : t('baseUrlHint')}
            placeholder={isMcp ? 'https://crm.example.com/mcp' : 'https://api.example.com/v1'}
            inputMode="url"
            maxLength={2_000}
            value={draft.url}
            error={errors['url']}
            onChange={({ currentTarget }) => change({ url: currentTarget.value })}
          />
          <CredentialFields draft={draft} onChange={change} error={errors['credential']} stored={server?.credential} />
          <ReadButton
            draft={draft}
            isReading={check.isPending}
            found={check.data}
            onRead={() => void attempt(() => check.mutateAsync())}
          />
          <Checkbox
            label={t('mayChangeData')}
            description={t('mayChangeDataHint')}
            checked={draft.mayChangeData}
            onChange={({ currentTarget }) => change({ mayChangeData: currentTarget.checked })}
          />
          <ToolChoice draft={draft} tools={tools} onChange={change} error={errors['allowed']} />
          <Checkbox
            label={t('visitors')}
            description={t('visitorsHint')}
            checked={draft.visitors}
            onChange={({ currentTarget }) => change({ visitors: currentTarget.checked })}
          />
          <Group gap="sm">
            <Button type="submit" loading={save.isPending}>
              {t('save')}
            </Button>
            <Button variant="default" onClick={onClose}>
              {t('cancel')}
            </Button>
          </Group>
        </Stack>
        {form.dialog(() => void submit())}
      </form>
    </Dialog>
  )
}

function ReadButton(props: {
  draft: ServerDraft
  isReading: boolean
  found: CheckedToolServerBody | undefined
  onRead: () => void
}) {
  const { draft, isReading, found, onRead } = props
  const { t } = useTranslation('space-tools')
  const isMcp = draft.kind === 'mcp'
  return (
    <Group gap="sm">
      <Button
        variant="default"
        loading={isReading}
        disabled={isMcp ? draft.url.trim() === '' : draft.document === ''}
        onClick={onRead}
      >
        {isMcp ? t('test') : t('read')}
      </Button>
      {found && (
        <Dimmed role="status">{t(found.isComplete ? 'found' : 'foundPart', { count: found.tools.length })}</Dimmed>
      )}
    </Group>
  )
}

type Stored = Partial<VersionedServer> & { version: string }

const newServer: Stored = { version: '' }
const isStored = (server: Stored): server is VersionedServer => server.id !== undefined

/** The form, with what someone else has changed meanwhile. `read`: the tools that were read in this dialog; the server reads them again as well. */
function useServerForm({ spaceId, kind, server }: Omit<ServerDialogProps, 'onClose'>, read: ShownTool[] | undefined) {
  const { t } = useTranslation('space-tools')
  const client = useQueryClient()
  const load = useFreshServer(spaceId)
  const form = useSharedDraft<Stored, ServerDraft>({
    view: server ? withVersion(server) : newServer,
    isNew: server === undefined || read !== undefined,
    draftOf: (shown) => draftOf(kind, isStored(shown) ? shown : undefined),
    // A deleted one is sent once more, and refused.
    load: async () => (server ? ((await load(server.id)) ?? withVersion(server)) : newServer),
    async send(wanted, base) {
      const body = bodyOf(wanted, read ?? base.tools ?? [], base.enabled ?? true)
      if (!isStored(base)) await postJson(toolsPath(spaceId), { kind, ...body })
      else {
        const refresh = read !== undefined && kind === 'mcp'
        await putJson(`${toolsPath(spaceId)}/${base.id}`, { ...body, refresh }, ifMatch(base))
      }
      await client.invalidateQueries({ queryKey: toolServersQuery(spaceId).queryKey })
    },
    labelOf: (field) => t(labelKeys[field]),
    textOf: (field, value) => (field === 'credential' ? t(`credential.${value as ServerDraft['credential']}`) : value),
    secrets: { secret: () => undefined },
  })
  return { ...form, tools: read ?? form.base.tools ?? [] }
}

const labelKeys = {
  kind: 'title',
  name: 'name',
  url: 'url',
  credential: 'credential.label',
  credentialName: 'credential.headerName',
  secret: 'credential.secret',
  document: 'document',
  mayChangeData: 'mayChangeData',
  visitors: 'visitors',
  allowed: 'tools',
} as const satisfies Record<keyof ServerDraft, string>
