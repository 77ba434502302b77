import { Button, Group, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Erasure, ErasureKind } from '@contract/erasures.ts'
import { postJson } from '../../api/client.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { Select } from '../../ui/select.tsx'
import { erasuresKey, erasuresPath } from './routes.tsx'

const kinds: ErasureKind[] = ['user', 'document']
/** The field of the API that names the subject. */
const fieldOf = { user: 'user', document: 'documentId' } as const

/** Requests an erasure, after a question. */
export function ErasureForm({ organisationId }: { organisationId: string }) {
  const { t } = useTranslation('data-protection')
  const [kind, setKind] = useState<ErasureKind>('user')
  const [value, setValue] = useState('')
  const { errors, isBusy, request } = useRequest(organisationId, () => setValue(''))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const subject = value.trim()
    openConfirm({
      title: t('form.question'),
      text: t(`form.confirm.${kind}`, { subject }),
      confirm: t('form.submit'),
      onConfirm: () => void request(kind, subject),
    })
  }
  return (
    <form onSubmit={submit}>
      <Group align="flex-start" gap="sm">
        <Select
          label={t('form.kind')}
          data={kinds.map((name) => ({ value: name, label: t(`kind.${name}`) }))}
          value={kind}
          onChange={(chosen) => setKind(chosen as ErasureKind)}
          allowDeselect={false}
          w={180}
        />
        <TextInput
          label={t(`form.value.${kind}`)}
          description={t(`form.hint.${kind}`)}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
          error={errors[fieldOf[kind]]}
          required
          withAsterisk={false}
          flex={1}
          miw={240}
          maw={480}
        />
        <Button
          type="submit"
          color="red.9"
          mt={24}
          leftSection={<IconTrash size={16} aria-hidden />}
          loading={isBusy}
          disabled={value.trim() === ''}
        >
          {t('form.submit')}
        </Button>
      </Group>
    </form>
  )
}

function useRequest(organisationId: string, onAccepted: () => void) {
  const { t } = useTranslation('data-protection')
  const queryClient = useQueryClient()
  const { errors, attempt } = useFieldErrors(Object.values(fieldOf))
  const [isBusy, setBusy] = useState(false)
  return {
    errors,
    isBusy,
    async request(kind: ErasureKind, subject: string): Promise<void> {
      setBusy(true)
      const isAccepted = await attempt(() =>
        postJson<Erasure>(erasuresPath(organisationId), { [fieldOf[kind]]: subject }),
      )
      setBusy(false)
      if (!isAccepted) return
      onAccepted()
      notifySuccess(t('form.accepted'))
      await queryClient.invalidateQueries({ queryKey: erasuresKey(organisationId) })
    },
  }
}
