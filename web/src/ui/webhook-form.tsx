import { Alert, Button, Group, TextInput } from '@mantine/core'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { deleteJson, putJson } from '../api/client.ts'
import { openConfirm } from './confirm.tsx'
import { ifMatch } from './conflict/if-match.ts'
import { useSharedDraft } from './conflict/use-shared-draft.tsx'
import { CopyField } from './copy-field.tsx'
import { useFieldErrors } from './field-errors.ts'
import { LeaveGuard } from './leave-guard.tsx'
import { notifyError, notifySuccess } from './notify.ts'

/** The address that is set, and the version of its settings. */
interface Webhook {
  url: string | null
  version: string
}

interface WebhookFormProps {
  /** Of the API: PUT sets the address and answers with the secret, DELETE removes it. */
  path: string
  webhook: Webhook
  load: () => Promise<Webhook>
  /** The queries that a change makes stale. */
  queryKey: QueryKey
  texts: Record<
    'url' | 'set' | 'replace' | 'remove' | 'removeTitle' | 'removeText' | 'removed' | 'secretTitle' | 'secret',
    string
  >
}

/** The address of a webhook. Its signing secret is shown once, after the address was set. */
export function WebhookForm({ path, webhook, load, queryKey, texts }: WebhookFormProps) {
  const { url } = webhook
  const queryClient = useQueryClient()
  const { errors, attempt } = useFieldErrors(['url'])
  const [secret, setSecret] = useState<string>()
  const reload = () => queryClient.invalidateQueries({ queryKey })
  const form = useSharedDraft({
    view: webhook,
    draftOf: (view: Webhook) => ({ url: view.url ?? '', secret: '' }),
    load,
    send: async (draft, base) =>
      setSecret((await putJson<{ secret: string }>(path, { url: draft.url }, ifMatch(base))).secret),
    labelOf: (field) => texts[field],
    secrets: { secret: () => undefined },
  })
  // Each address gets a new secret, also the one that is set.
  const save = useMutation({ mutationFn: () => form.save({ secret: 'new' }), onSuccess: reload })
  const remove = useMutation({
    mutationFn: () => deleteJson(path, ifMatch(form.base)),
    async onSuccess() {
      form.set({ url: '' })
      setSecret(undefined)
      await reload()
      notifySuccess(texts.removed)
    },
    async onError(error) {
      notifyError(error)
      await reload()
    },
  })
  const submitAddress = () => void attempt(() => save.mutateAsync())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    submitAddress()
  }
  const confirmRemove = () =>
    openConfirm({
      title: texts.removeTitle,
      text: texts.removeText,
      confirm: texts.remove,
      onConfirm: () => remove.mutate(),
    })
  return (
    <>
      <form onSubmit={submit} noValidate>
        <Group align="flex-end" gap="xs">
          <TextInput
            type="url"
            label={texts.url}
            placeholder="https://"
            value={form.draft.url}
            onChange={(event) => form.set({ url: event.currentTarget.value })}
            error={errors['url']}
            style={{ flex: '1 1 260px' }}
          />
          <Button type="submit" variant="default" loading={save.isPending} disabled={form.draft.url === ''}>
            {url === null ? texts.set : texts.replace}
          </Button>
          {url !== null && (
            <Button variant="subtle" color="red" onClick={confirmRemove} loading={remove.isPending}>
              {texts.remove}
            </Button>
          )}
        </Group>
      </form>
      <LeaveGuard isDirty={form.isDirty && !save.isPending} />
      {form.dialog(submitAddress)}
      {secret !== undefined && (
        <Alert title={texts.secretTitle} color="portico" variant="light">
          <CopyField label={texts.secret} value={secret} />
        </Alert>
      )}
    </>
  )
}
