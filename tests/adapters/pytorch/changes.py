"""What may change the bits of a model in PyTorch, as shipped and with Attend inside: each a function from a pair of models, an encoder and a
decoder, to the outputs of one and of the other way."""
import torch

from models import numbers, padded


def tokens_of(model, count=45, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, model.words.num_embeddings, (1, count), generator=generator)


def vectors_of(model, count=45, seed=4):
    generator = torch.Generator().manual_seed(seed)
    return numbers((1, count, model.layers[0].linear1.in_features), 2.0, generator)


def on_threads(count, compute):
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        return compute()
    finally:
        torch.set_num_threads(before)


def joined(encoded, logits):
    return torch.cat((encoded.flatten(), logits.flatten()))


def both(encoder, decoder):
    return joined(encoder(vectors_of(encoder)), decoder(tokens_of(decoder))[0])


def threads(encoder, decoder):
    return [on_threads(count, lambda: both(encoder, decoder)) for count in (1, 2, 3, 4)]


def batch(encoder, decoder):
    """Alone, and between four others."""
    x, tokens = vectors_of(encoder), tokens_of(decoder)
    many = torch.cat([vectors_of(encoder, seed=10), vectors_of(encoder, seed=11), x, vectors_of(encoder, seed=12), vectors_of(encoder, seed=13)])
    texts = torch.cat([tokens_of(decoder, seed=10), tokens_of(decoder, seed=11), tokens, tokens_of(decoder, seed=12), tokens_of(decoder, seed=13)])
    return [both(encoder, decoder), joined(encoder(many)[2], decoder(texts)[0][2])]


def padding(side, encoder, decoder):
    found = [both(encoder, decoder)]
    x, tokens = vectors_of(encoder), tokens_of(decoder)
    for count in (1, 7, 64, 83):
        place = slice(count, None) if side == 'left' else slice(0, -count)
        wide, seen = padded(x, count, side, 0.5)
        encoded = encoder(wide, src_key_padding_mask=~seen)
        if encoded.shape[1] != wide.shape[1]:  # as shipped, a batch without its padding comes out shorter
            encoded = torch.nn.functional.pad(encoded, (0, 0, 0, count))
        logits, _ = decoder(*padded(tokens, count, side, 0))
        found.append(joined(encoded[:, place], logits[:, place]))
    return found


def chunks(sizes, encoder, decoder):
    tokens = tokens_of(decoder)
    return [decoder(tokens)[0], *(decoder.in_chunks(tokens, each) for each in sizes)]


def reused(encoder, decoder):
    """A prompt whose beginning is in the cache already, from another, longer one."""
    tokens, others = tokens_of(decoder), tokens_of(decoder, seed=14)
    before = torch.cat((tokens[:, :30], others), 1)
    _, past = decoder(before)
    past = [(key[:, :, :30], value[:, :, :30]) for key, value in past]
    return [decoder(tokens)[0][:, 30:], decoder(tokens[:, 30:], past=past)[0]]


CHANGES = {
    'threads 1 to 4': threads,
    'batch': batch,
    'padding on the right': lambda *models: padding('right', *models),
    'padding on the left': lambda *models: padding('left', *models),
    'prompt at once or by chunks': lambda *models: chunks([[16, 16, 13], [1, 44], [33, 12]], *models),
    'prompt at once or token by token': lambda *models: chunks([[1] * 45], *models),
    'reused cache': reused,
    'speculation of 2 to 8 tokens': lambda *models: chunks([[16] + [1] * 29] + [[16] + [width] * (29 // width) + [29 % width] for width in range(2, 9)], *models),
}
