import type { ErasureCertificate, ErasureKind } from '../../contract/erasures.ts'

type NotErased = ErasureCertificate['notErased']

const always: NotErased = [
  { data: 'receipts and sums of usage', reason: 'They are the bill. They have no texts.' },
  {
    data: 'golden questions',
    reason: 'Administrators wrote them, or took them over from questions. Change or delete them in the Space.',
  },
  { data: 'backups and write-ahead logs', reason: 'They keep erased data until they expire.' },
  { data: 'data at AI providers', reason: 'Providers delete prompts by their own terms.' },
]

const ofKind: Record<ErasureKind, NotErased> = {
  user: [
    { data: 'answers of requests without `service-user`', reason: 'Nothing connects them with the user.' },
    { data: 'data of requests after the erasure was requested', reason: 'It is new data. Request another erasure.' },
    {
      data: 'usage tags of other keys than `user`, and tags in journals of the ledger',
      reason: 'Metadata belongs to the client. A journal is removed after its entries are in the database.',
    },
  ],
  document: [
    {
      data: 'entries of the admin log about the document',
      reason: 'They prove changes. They have its name, without text.',
    },
    {
      data: 'answers without a reference to the document',
      reason: 'An answer that ended before its references does not state which documents it quotes.',
    },
    { data: 'other documents with the same content', reason: 'They have other ids. Erase each of them.' },
    { data: 'earlier versions in an object store with versioning', reason: 'The rules of the bucket remove them.' },
  ],
}

/** What a certificate names as not erased. */
export const notErased = (kind: ErasureKind): NotErased => [...ofKind[kind], ...always]
