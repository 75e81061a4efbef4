# A classifier over 16 readings of a sensor, as PyTorch writes it to encoder.onnx, with some readings beside it. Its weights are random here.
# begin
import numpy
import torch

layer = torch.nn.TransformerEncoderLayer(d_model=32, nhead=4, dim_feedforward=64, batch_first=True)
model = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.TransformerEncoder(layer, num_layers=2),
                            torch.nn.Flatten(), torch.nn.Linear(16 * 32, 5)).eval()
torch.onnx.export(model, torch.zeros(1, 16, 6), 'encoder.onnx', opset_version=14)
numpy.save('readings.npy', numpy.random.default_rng(1).standard_normal((64, 16, 6)).astype('float32'))
# end
