import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/CheckboxIndicator.css'
import '@mantine/core/styles/CheckboxCard.css'
import { Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { CheckedToolServerBody, ToolServerBody } from '@contract/space-tools.ts'
import { postJson, putJson } from '../../api/client.ts'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { CredentialFields } from './credential-fields.tsx'
import { DocumentField } from './document-field.tsx'
import { toolServersQuery, toolsPath } from './queries.ts'
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
  const [draft, setDraft] = useState(() => draftOf(kind, server))
  const [tools, setTools] = useState<readonly ShownTool[]>(server?.tools ?? [])
  const { errors, attempt } = useFieldErrors(fields, { other: 'allowed' })
  const change = (update: Partial<ServerDraft>) => setDraft((current) => ({ ...current, ...update }))
  const check = useMutation({
    mutationFn: () => postJson<CheckedToolServerBody>(`${toolsPath(spaceId)}/check`, checkOf(draft, server)),
    onSuccess(read) {
      setTools(read.tools)
      if (draft.url.trim() === '' && read.url !== null) change({ url: read.url })
    },
  })
  const save = useSave(spaceId, server)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!(await attempt(() => save.mutateAsync({ draft, tools, isRead: check.isSuccess })))) return
    notifySuccess(t('saved'))
    onClose()
  }
  const isMcp = kind === 'mcp'
  const title = server ? t('editTitle', { name: server.name }) : isMcp ? t('addMcp') : t('addOpenapi')
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeButtonProps={{ 'aria-label': t('close') }}>
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
      </form>
    </Modal>
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
        <Text size="sm" c="dimmed" role="status">
          {t(found.isComplete ? 'found' : 'foundPart', { count: found.tools.length })}
        </Text>
      )}
    </Group>
  )
}

interface Saved {
  draft: ServerDraft
  tools: readonly ShownTool[]
  /** The tools were read in this dialog: the server reads them again as well. */
  isRead: boolean
}

function useSave(spaceId: string, server: ToolServerBody | undefined) {
  const client = useQueryClient()
  return useMutation({
    mutationFn({ draft, tools, isRead }: Saved) {
      const body = bodyOf(draft, tools, server?.enabled ?? true)
      if (!server) return postJson<ToolServerBody>(toolsPath(spaceId), { kind: draft.kind, ...body })
      const refresh = isRead && draft.kind === 'mcp'
      const headers = { 'if-match': `"${server.generation}"` }
      return putJson<ToolServerBody>(`${toolsPath(spaceId)}/${server.id}`, { ...body, refresh }, { headers })
    },
    onSuccess: () => client.invalidateQueries({ queryKey: toolServersQuery(spaceId).queryKey }),
  })
}
